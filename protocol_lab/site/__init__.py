"""The site: notebooks as pages in which the stepper runs without a kernel.

recording   what the stepper shows of a model's states, as plain values
packing     these values as a script that a page can load from the disk
sessions    what a page's stepper opens: its walk, and the challenge or scenario
scripts     the pages' script and style sheet
"""
