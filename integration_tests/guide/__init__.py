"""What Spark's Structured Streaming guide shows, as queries of our own: a file for each story.

example -> words, visits, duplicates, adverts, sensors -> catalogue
"""
