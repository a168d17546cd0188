"""What privacy rests on and nothing else: prices of draws and noise, charges, and the proof that a release was paid."""
