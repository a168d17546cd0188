"""REM's test: how safe a dataset is, the choice of threshold, and the coin."""
