import { useQuery, type UseQueryOptions } from '@tanstack/react-query';
import { useSignedIn } from '../session/session.ts';
import { told, type ApiClient, type Plain } from './ask.ts';

type ApiAnswer<T> = Promise<{ data?: T; error?: unknown; response: Response }>;

/** Returns the API's answer to a request with the session's token, cached under `key`. */
export function useTold<T>(
  key: readonly unknown[],
  asked: (ask: ApiClient) => ApiAnswer<T>,
  options: Omit<UseQueryOptions<Plain<T>>, 'queryKey' | 'queryFn'> = {},
) {
  const { ask } = useSignedIn();
  return useQuery<Plain<T>>({ queryKey: key, queryFn: () => told(asked(ask)), ...options });
}
