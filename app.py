"""Starts the playground at http://127.0.0.1:7860, or as PORT and the GRADIO_* variables say."""

if __name__ == "__main__":
    import gc

    gc.disable()  # imports leave no garbage, and looking for it takes a fifth of the start; `serve` turns it on again
    from playground.ui.server import serve  # imported here: training processes import this module too, and need no page

    serve()
