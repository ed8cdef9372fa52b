"""Reading a step function: its syntax tree is given a meaning, and never run.
"""
