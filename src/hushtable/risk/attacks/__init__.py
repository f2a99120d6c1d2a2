"""What attackers achieve who know roughly, who have another table, or an earlier release."""
