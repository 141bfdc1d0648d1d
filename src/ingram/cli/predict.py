def predict_command() -> None:
    pass
