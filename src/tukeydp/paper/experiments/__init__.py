"""The paper's tables and figures, and what it could not do, as experiments anyone can run again."""
