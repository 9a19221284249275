import { useQuery, type UseQueryOptions } from '@tanstack/react-query';
import { useSignedIn } from '../session/session.ts';
import { answerOf, type ApiClient, type Plain } from './create-api.ts';

type ApiAnswer<T> = Promise<{ data?: T; error?: unknown; response: Response }>;

/** Returns the API's answer to a request with the session's token, cached under `key`. */
export function useAnswer<T>(
  key: readonly unknown[],
  request: (api: ApiClient) => ApiAnswer<T>,
  options: Omit<UseQueryOptions<Plain<T>>, 'queryKey' | 'queryFn'> = {},
) {
  const { api } = useSignedIn();
  return useQuery<Plain<T>>({ queryKey: key, queryFn: () => answerOf(request(api)), ...options });
}
