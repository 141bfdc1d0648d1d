def embed_command() -> None:
    pass
