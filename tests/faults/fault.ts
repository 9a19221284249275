import type { Balance } from '../testing/balance.ts';
import type { Ledger } from '../testing/ledger.ts';
import type { Row } from './fault-texts.ts';
import type { Stage, StageNeeds } from './stage.ts';

/** Something that goes wrong on a bad day, how it is brought about, and what it may cost. */
export type Fault = StageNeeds & {
  row: Row;
  name: string;
  /** Its short form is part of `./waybell test`. */
  gates?: boolean;
  bars: Bars;
  /** Brings it about and resolves when everything that the ledger knows of has come to an end. */
  run: (stage: Stage, ledger: Ledger) => Promise<Course>;
};

/** The permitted cost of a fault. Every fault requires that everything comes to its expected end. */
export type Bars = {
  /** Requests that receivers may get again, with the same `webhook-id` and attempt, each time that it happens. */
  duplicates: number;
  /**
   * Deliveries of which two chains of retries may run side by side; none where it is left out. Not held where it happens
   * several times: two of these may hit one delivery, which looks the same.
   */
  forked?: number;
  /** From the fault until an event published after it is received. Held by the release bench only. */
  movingAgainSeconds?: number;
  /** Resident memory of any service at its peak. */
  megabytes?: number;
};

/** How it went. */
export type Course = {
  /** How often it was brought about; once where it is left out. */
  times?: number;
  /** Present where it kept other books than the ledger it was given. */
  books?: { published: number; balance: Balance };
  movingAgainSeconds?: number;
  /** From the end of the load to the last end. */
  atRestSeconds?: number;
  /** Further observations, printed below the row. */
  notes?: string[];
  /** Further broken conditions. */
  problems?: string[];
};
