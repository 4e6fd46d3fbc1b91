"""What only a comparison with TLC needs. In reading order:

- multiplicity: how often TLC takes a step
- variables: how TLC prints the variables that have another shape here
"""
