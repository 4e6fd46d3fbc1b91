"""One state at a time: what can happen and why not, steps as text, walks, scenarios."""
