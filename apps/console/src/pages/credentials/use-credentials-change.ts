import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTell } from '../../parts/notices.tsx';

/** Puts in or removes credentials, says so, and has the list asked for again. Nothing of what was sent is kept. */
export function useCredentialsChange<T>(change: () => Promise<T>, say: (done: T) => string, close: () => void) {
  const queries = useQueryClient();
  const tell = useTell();
  return useMutation({
    mutationFn: change,
    gcTime: 0,
    onSuccess: (done) => {
      tell(say(done));
      close();
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['credentials'] }),
  });
}
