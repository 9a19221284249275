import madeExamples from './sent-examples.json' with { type: 'json' };

/** A notification as really sent: `body` is its exact text. */
export type SentExample = { readonly form: 'plain' | 'revision'; readonly body: string };

/** Examples by `<interface>.<action>`; the five revision actions have an example of either form. */
export type SentExamples = Readonly<Record<string, readonly SentExample[]>>;

/** The router's messages for each action's example event; `./waybell docs` writes them. */
// The type of an imported JSON file does not know that `form` has two values.
export const sentExamples = madeExamples as SentExamples;
