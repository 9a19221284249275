import { isDeepStrictEqual } from 'node:util';
import { Receiver } from '../testing/receiver.ts';
import { TestStack } from '../testing/test-stack.ts';
import { faultSettings } from './fault-settings.ts';

/** Short: part of the daily suite. Release: as often, as long and as much as the table says. */
export type Scale = 'short' | 'release';

/** The services' environment variables. */
export type Settings = Record<string, string>;

/** The place of a fault: a whole system, and a receiver of what it sends. */
export type Stage = { stack: TestStack; receiver: Receiver; scale: Scale };

export type BuiltStage = Stage & AsyncDisposable;
export type BuildStage = (settings: Settings, scale: Scale) => Promise<BuiltStage>;

/** Requirements of a fault for its stage. */
export type StageNeeds = {
  /** Settings of the services, beside the short schedules that every fault has. */
  settings?: Settings | ((scale: Scale) => Settings);
  /** The stage, where the usual one will not do. */
  buildStage?: BuildStage;
};

/** A class, also one that makes its instances itself. */
type Class<T> = { readonly name: string; readonly prototype: T; [Symbol.hasInstance](value: unknown): boolean };

/** Returns the stage's part of that class. Throws if it has none. */
export function partOf<T>(stage: Stage, kind: Class<T>): T {
  for (const part of Object.values<unknown>(stage)) if (part instanceof kind) return part as T;
  throw new Error(`this stage has no ${kind.name}`);
}

/** `brokerUrl` as a test stack takes it; `beneath` is what the stack needs, which ends after it. */
type Ground = { brokerUrl?: string; beneath?: AsyncDisposable };

/** The stage of most faults: everything as it comes. */
export async function buildPlainStage(settings: Settings, scale: Scale, ground: Ground = {}): Promise<BuiltStage> {
  const { brokerUrl, beneath } = ground;
  return stageOn(() => TestStack.startAlone(settings, brokerUrl), scale, beneath);
}

/** The stage of those that gate, which break services and RabbitMQ alone: on servers that the run has anyway. */
export async function buildSharingStage(settings: Settings, scale: Scale): Promise<BuiltStage> {
  return stageOn(() => TestStack.startBreakable(settings), scale);
}

async function stageOn(start: () => Promise<TestStack>, scale: Scale, beneath?: AsyncDisposable): Promise<BuiltStage> {
  await using started = new AsyncDisposableStack();
  started.use(beneath);
  const stack = started.use(await start());
  const receiver = started.use(await Receiver.start());
  const all = started.move();
  return { stack, receiver, scale, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Builds the stage that a fault needs, and keeps it for the next one that needs the same. */
export class Stages implements AsyncDisposable {
  readonly #scale: Scale;
  #current: { stage: Promise<BuiltStage>; needs: Needs } | undefined;

  constructor(scale: Scale) {
    this.#scale = scale;
  }

  async stageFor({ settings: given = {}, buildStage = buildPlainStage }: StageNeeds): Promise<Stage> {
    const settings = typeof given === 'function' ? given(this.#scale) : given;
    const needs = { settings, buildStage };
    if (this.#current !== undefined && isDeepStrictEqual(this.#current.needs, needs)) return this.#current.stage;
    await this.clear();
    const stage = buildStage({ ...faultSettings, ...settings }, this.#scale);
    this.#current = { stage, needs };
    return stage;
  }

  async clear(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    // One that could not be built has cleared itself away.
    const stage = await current?.stage.catch(() => undefined);
    await stage?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.clear();
  }
}

type Needs = { settings: Settings; buildStage: BuildStage };
