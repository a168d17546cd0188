"""Level sets as polytopes, their volumes and pictures. **Not private**: nothing proven imports this room."""
