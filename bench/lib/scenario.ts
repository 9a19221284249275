import type { ScenarioReport } from './report.ts';

/** How thoroughly to measure. */
export type Effort = {
  isQuick: boolean;
  /** How often each contender runs, in turn. */
  rounds: number;
  /** Says what is being done. */
  announce: (line: string) => void;
};

/** One row of promises: what to run, measure and hold against its bars. */
export type Scenario = {
  name: string;
  description: string;
  run(effort: Effort): Promise<Omit<ScenarioReport, 'name'>>;
};
