"""What a protocol declares: its state, constants, actions and properties.

layout                the types of a state's fields, and the row of bytes that they give
constants             a spec's constants: defaults, bounds, validation, named configurations
parameters            the domains of an action's parameters, read from its annotations
layouts_in_code       what the values of expressions in a function are: names, sets, items
named_values          names of values, such as "leader", in comparisons and assignments
set_syntax            sets of nodes asked with in, len and for: functions in their place
spec                  `Spec`, where everything is declared, and `Model`, a spec with constants
declared              base class of declared actions and properties
temporal_formulas     temporal properties and fairness assumptions
refinements           mappings from a spec's states to those of a more abstract spec
symmetry_declaration  which nodes a spec declares interchangeable
channels              which fields hold messages in flight, for sequence diagrams
state_view            a row of bytes as named fields, for uncompiled code
"""
