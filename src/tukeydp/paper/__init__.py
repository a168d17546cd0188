"""The paper: level sets as polytopes, volumes, random walks, Algorithm 3. Nothing proven imports this room."""
