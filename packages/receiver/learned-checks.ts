import { isLater, secretsIn, tokensIn, type Checks, type LaterChecks, type Secrets, type Tokens } from './checks.ts';
import type { Interface } from './parse-notification.ts';
import { readNotification, type Received, type ReceivedRequest } from './read-notification.ts';
import type { Refusal } from './refusal.ts';

/** Values that a receiver learns while it runs, in addition to its options: `keepSubscribed` reads them from the API. */
export type LearnedChecks = {
  /** Signing secrets that are valid now. */
  secrets: () => readonly string[];
  /** Verification tokens of the subscriptions that are kept. */
  tokens: () => readonly string[];
  /** Asks whether there are others now, not too often. Resolves with whether there are; never rejects. */
  learn: () => Promise<boolean>;
};

/** Called by `keepSubscribed`: from then on the receiver verifies with learned values, too. */
export type Follow = (learned: LearnedChecks) => void;

type Options<I extends Interface> = { interface: I } & (Checks | LaterChecks);

export type LearningReader<I extends Interface> = {
  follow: Follow;
  read: (request: ReceivedRequest) => Promise<Received<I> | Refusal>;
};

/**
 * Reads like `readNotification`, with given and learned values. A request that matches neither is checked again after more was
 * learned.
 */
export function learningReader<I extends Interface>(options: Options<I>): LearningReader<I> {
  let learned: LearnedChecks | undefined;
  const read = (request: ReceivedRequest) => readNotification(request, withLearned(options, learned));
  return {
    follow: (given) => void (learned = given),
    async read(request) {
      if (isLater(options) && learned?.secrets().length === 0) await learned.learn();
      const reading = await read(request);
      return isUnknown(reading) && (await learned?.learn()) === true ? read(request) : reading;
    },
  };
}

/** A secret or a token may be newer than the known ones. */
function isUnknown(reading: { kind: string; reason?: string }): boolean {
  return reading.reason === 'signature_does_not_match' || reading.reason === 'token_does_not_match';
}

function withLearned<I extends Interface>(
  options: Options<I>,
  learned: LearnedChecks | undefined,
): { interface: I } & Checks {
  const { secrets, tokens } = options;
  if (isLater(options)) {
    const { interface: name, ...times } = options;
    return { ...times, interface: name, secrets: () => learnedSecrets(learned) };
  }
  if (learned === undefined) return options;
  return {
    ...options,
    ...(secrets !== undefined && { secrets: async () => [...(await givenSecrets(secrets)), ...learned.secrets()] }),
    ...(tokens !== undefined && {
      tokens: async (about: { action: string }) => {
        const known = [...(await givenTokens(tokens, about)), ...learned.tokens()];
        return known.length > 0 ? known : undefined;
      },
    }),
  };
}

function learnedSecrets(learned: LearnedChecks | undefined): readonly string[] {
  if (learned === undefined) throw new TypeError('give "secrets" or "tokens", or call keepSubscribed(receiver, …)');
  const secrets = learned.secrets();
  if (secrets.length === 0) throw new Error('keepSubscribed could not ask for the signing secrets yet');
  return secrets;
}

async function givenSecrets(secrets: Secrets): Promise<string[]> {
  return secretsIn(typeof secrets === 'function' ? await secrets() : secrets);
}

async function givenTokens(tokens: Tokens, about: { action: string }): Promise<string[]> {
  return tokensIn(typeof tokens === 'function' ? await tokens(about) : tokens);
}
