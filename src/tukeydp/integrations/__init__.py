"""What others already use: scikit-learn and OpenDP, with our mechanisms inside."""
