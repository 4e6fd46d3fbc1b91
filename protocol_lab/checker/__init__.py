"""Every reachable state: the question, the engines of this process, and the result."""
