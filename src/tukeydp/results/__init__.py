"""What was released, as people use it: tables, text, HTML, pictures. Post-processing."""
