"""Files that share no code with the rest and may be copied out: the checker of certificates, and saved models."""
