"""The line above every tab: the sentence and its greedy output."""
