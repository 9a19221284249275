import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTell } from '../../parts/notices.tsx';

/** Puts in or removes credentials, says so, and has the list asked for again. Nothing of what was sent is kept. */
export function useCredentialsChange(change: () => Promise<unknown>, said: string, close: () => void) {
  const queries = useQueryClient();
  const tell = useTell();
  return useMutation({
    mutationFn: change,
    gcTime: 0,
    onSuccess: () => {
      tell(said);
      close();
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['credentials'] }),
  });
}
