import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";

/**
 * Identifiers as ULIDs are made: 48 bits of time, 80 of chance, in an alphabet that sorts. Two of one millisecond
 * still sort, because the later one counts on from the earlier.
 */
export function createIds(deps: {
  readonly clock: Clock;
  readonly random?: (bytes: Uint8Array<ArrayBuffer>) => void;
}): Ids {
  const random = deps.random ?? ((bytes: Uint8Array<ArrayBuffer>) => void crypto.getRandomValues(bytes));
  const chance = new Uint8Array(CHANCE_DIGITS);
  // Drawn for many ids at once: asking for sixteen bytes costs as much as asking for a thousand.
  const drawn = new Uint8Array(CHANCE_DIGITS * IDS_DRAWN);
  let used = drawn.length;
  let time = -1;
  let timeText = "";

  function tick(): void {
    const now = Math.floor(deps.clock.now());
    // A clock that was set back must not make new ids sort before old ones.
    if (now > time) {
      time = now;
      timeText = timeDigits(now);
      if (used === drawn.length) {
        random(drawn);
        used = 0;
      }
      for (let at = 0; at < CHANCE_DIGITS; at += 1) chance[at] = (drawn[used + at] ?? 0) % BASE;
      used += CHANCE_DIGITS;
    } else {
      countOn(chance);
    }
  }

  return {
    next: (prefix) => {
      tick();
      let id = prefix === "" ? timeText : `${prefix}_${timeText}`;
      for (const digit of chance) id += ALPHABET.charAt(digit);
      return id;
    },
  };
}

/** Crockford's base 32: no letter that looks like a digit. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const BASE = ALPHABET.length;
const TIME_DIGITS = 10;
const CHANCE_DIGITS = 16;
const IDS_DRAWN = 64;

function timeDigits(ms: number): string {
  let text = "";
  for (let rest = ms, n = 0; n < TIME_DIGITS; n += 1, rest = Math.floor(rest / BASE)) {
    text = ALPHABET.charAt(rest % BASE) + text;
  }
  return text;
}

function countOn(digits: Uint8Array): void {
  for (let at = digits.length - 1; at >= 0; at -= 1) {
    const digit = digits[at] ?? 0;
    if (digit < BASE - 1) {
      digits[at] = digit + 1;
      return;
    }
    digits[at] = 0;
  }
}
