import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTell } from '../../../parts/notices.tsx';

/** Stops or starts something, says so, and has what is shown asked for again. */
export function useStopChange<Input>(change: (input: Input) => Promise<unknown>, said: string, close: () => void) {
  const queries = useQueryClient();
  const tell = useTell();
  return useMutation({
    mutationFn: change,
    onSuccess: () => {
      tell(said);
      close();
    },
    onSettled: () => queries.invalidateQueries(),
  });
}
