/** One system that runs plans of steps that do nothing, and keeps each step. */
export type Contender = {
  /** Its database's `synchronous` setting, as the database itself says it where it can be asked. */
  readonly synchronous: () => Promise<string>;
  /**
   * Runs one plan of this many steps to its end, while up to `sessions` run. Every step calls `stepped`, and all are
   * stored when it resolves.
   */
  readonly run: (steps: number, sessions: number) => Promise<void>;
  /** How many steps its database holds as done. */
  readonly storedSteps: () => Promise<number>;
  /** Longer plans it refuses. */
  readonly maxSteps?: number;
};

export type ContenderParts = {
  /** Its own, for its database. */
  readonly folder: string;
  readonly stepped: () => void;
};

/** Each contender's file exports this as `open`. */
export type OpenContender = (parts: ContenderParts) => Promise<Contender>;

/** What a bench asks of the process that a contender lives in, and what it is told. */
export type Task =
  /** Plans of `planSteps` steps, one after the other in each of `sessions` sessions, for `ms`. */
  | { readonly kind: "rate"; readonly sessions: number; readonly planSteps: number; readonly ms: number }
  /** One plan; what is not done after `limitMs` is left. */
  | { readonly kind: "long"; readonly planSteps: number; readonly limitMs: number }
  | { readonly kind: "about" };

export type Answer =
  | { readonly kind: "ready"; readonly maxSteps: number | undefined }
  | { readonly kind: "rate"; readonly stepsPerSecond: number }
  | ({ readonly kind: "long" } & LongRun)
  | { readonly kind: "about"; readonly synchronous: string; readonly ran: number; readonly stored: number }
  | { readonly kind: "failed"; readonly reason: string };

export type LongRun = {
  /** Steps that were done within the limit. */
  readonly reached: number;
  /** Of the whole run, its start and its end included. */
  readonly msPerStep: number;
  /** Of the first and of the second half of the steps after the hundredth; NaN for runs that have none. */
  readonly earlyMs: number;
  readonly lateMs: number;
};
