"""The hot loops: one operation a file, a plain torch form and a compiled CPU form."""
