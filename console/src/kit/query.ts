/** Answers of the API as queries, changes as actions. After a change whatever is on screen is asked again: no call says what it invalidates. */
import { keepPreviousData, MutationCache, QueryClient, queryOptions, useMutation } from '@tanstack/react-query';
import { type AnswerOf, type Arguments, call, type CallKey, type InputOf } from './client.ts';
import type { PresentOptions } from './errors.ts';
import { onHealed } from './network.ts';
import { notify, type NoticeAction } from './notice.ts';
import { present } from './present.tsx';
import { onReset } from './session.ts';
import { isError } from './error-code.ts';
import { ApiError } from './transport.ts';

export const queryClient: QueryClient = new QueryClient({
  mutationCache: new MutationCache({ onSuccess: () => void queryClient.invalidateQueries() }),
  defaultOptions: {
    queries: {
      // An installation of one's own may be reachable while the browser believes to be offline; calls tell the truth.
      networkMode: 'always',
      staleTime: 5000,
      // A refusal stays a refusal; a cut cable is tried again.
      retry: (failures, error) => failures < 2 && (!(error instanceof ApiError) || error.status === 0),
    },
  },
});
onReset(() => queryClient.clear());
onHealed(() => void queryClient.invalidateQueries());

/** `useQuery(query('GET /{area}/sites', {query: {page: 2}}))`; the old rows stay while the next are on their way. */
export function query<K extends CallKey>(key: K, ...args: Arguments<K>) {
  const input = args[0];
  return queryOptions({
    queryKey: [key, input ?? {}] as const,
    queryFn: ({ signal }) => call<K>(key, ...([input ?? {}, { signal }] as unknown as Arguments<K>)),
    placeholderData: keepPreviousData as never,
  });
}

/** Of what is asked of somebody else now (`AskedNow`): whatever he said before says nothing. */
export const unkept = { staleTime: 0, gcTime: 0, retry: false } as const;

export interface TaskWords {
  success: string;
  failed: string;
}
export interface ActionOptions extends PresentOptions {
  /** Said when it went well. */
  success?: string;
  /** What can be done about that, while it is said. */
  offer?: NoticeAction | undefined;
  /** What was begun is a task: its log opens, and what became of it is said when it has ended. */
  task?: TaskWords | undefined;
  /** The caller shows errors itself. */
  quiet?: boolean;
}

/** `const purge = useAction('DELETE …'); await purge.run({siteID, body})` answers undefined when it failed, and the failure has been shown. */
export function useAction<K extends CallKey>(key: K, options: ActionOptions = {}) {
  const mutation = useMutation<AnswerOf<K>, unknown, InputOf<K>>({
    mutationFn: input => call<K>(key, ...([input] as unknown as Arguments<K>)),
  });
  return {
    isPending: mutation.isPending,
    async run(input: InputOf<K>): Promise<AnswerOf<K> | undefined> {
      try {
        const answer = await mutation.mutateAsync(input);
        if (options.success) notify.success(options.success, options.offer);
        return answer;
      } catch (error) {
        // Part of a bulk call may have succeeded.
        if (isError(error, 'multiple')) void queryClient.invalidateQueries();
        if (options.quiet) throw error;
        present(error, options);
        return undefined;
      }
    },
  };
}
