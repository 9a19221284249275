import { actionNames } from './action-names.ts';
import type { Interface, NotificationOf } from './parse-notification.ts';
import type { About, Received } from './read-notification.ts';
import { requireFunctions } from './require-options.ts';

export type Handle<I extends Interface> = (notification: NotificationOf<I>, about: About) => unknown;

/** Handlers by action. */
export type Handlers<I extends Interface> = {
  [A in NotificationOf<I>['action']]: (
    notification: Extract<NotificationOf<I>, { action: A }>,
    about: About,
  ) => unknown;
};

/**
 * The work for a notification. It is answered with 200 once that has resolved, and comes again if it throws. `on` has all
 * actions, or `otherwise` gets the rest. `enqueue` resolves when it has stored `received.body` for later.
 */
export type Work<I extends Interface> =
  | { handle: Handle<I>; on?: never; otherwise?: never; enqueue?: never }
  | { on: Handlers<I>; handle?: never; otherwise?: never; enqueue?: never }
  | { on: Partial<Handlers<I>>; otherwise: Handle<I>; handle?: never; enqueue?: never }
  | { enqueue: (received: Received<I>) => unknown; handle?: never; on?: never; otherwise?: never };

export type WorkOptions<I extends Interface> = { interface: I } & Work<I> & {
    /** Gets an action that this version does not know (`enqueue` gets it too); without it a warning is printed, once for each action. */
    onUnknownAction?: (received: Extract<Received<I>, { kind: 'unknown_action' }>) => unknown;
  };

/** Returns the work of the options. Throws if they leave a notification without work, or name an unknown action. */
export function workOf<I extends Interface>(options: WorkOptions<I>): (received: Received<I>) => unknown {
  const { handle, on, otherwise, enqueue, onUnknownAction = warnOnce() } = options;
  if ([handle, on, enqueue].filter((each) => each !== undefined).length !== 1)
    throw new TypeError('give one of "handle", "on" and "enqueue"');
  requireFunctions({ handle, otherwise, enqueue, onUnknownAction });
  if (enqueue !== undefined) return enqueue;
  // A handler of an action takes the notifications of that action, which the compiler cannot follow.
  const handlers = on as Partial<Record<string, Handle<I>>> | undefined;
  const handlerOf = (action: string) => handle ?? handlers?.[action] ?? otherwise;
  const names: readonly string[] = actionNames[options.interface];
  const unknown = Object.keys(handlers ?? {}).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new TypeError(`"on" has ${unknown}, which is no action of this interface`);
  const missing = names.find((name) => typeof handlerOf(name) !== 'function');
  if (missing !== undefined) throw new TypeError(`"on" has no function for ${missing}, and there is no "otherwise"`);
  return (received) => {
    if (received.kind === 'unknown_action') return onUnknownAction(received);
    const { notification, kind: _kind, ...about } = received;
    return handlerOf(notification.action)?.(notification, about);
  };
}

function warnOnce(): (received: { action: string }) => void {
  const warned = new Set<string>();
  return ({ action }) => {
    if (warned.has(action)) return;
    warned.add(action);
    process.emitWarning(
      `@waybell/receiver does not know ${action}, which was answered with 200: update it, or give "onUnknownAction"`,
    );
  };
}
