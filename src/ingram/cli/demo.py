def demo_command() -> None:
    pass
