"""What must be right for the guarantee: read these files to audit the draw."""
