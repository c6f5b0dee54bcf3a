// npm run samples: writes the sample data beside this file. The same seed gives the same bytes everywhere: chance is made
// of whole numbers and sums, never of functions that platforms round differently.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const DAY_MS = 86_400_000;

/** Every sample by its file name. */
export function makeSamples(): Readonly<Record<string, string>> {
  return {
    "shop_orders.csv": csv(shopOrders(chance(20_260_101))),
    "sensor_readings.jsonl": jsonLines(sensorReadings(chance(20_260_202))),
    "customer_survey.csv": csv(customerSurvey(chance(20_260_303))),
  };
}

type Cell = string | number | boolean | null;
type Table = readonly Readonly<Record<string, Cell>>[];

/**
 * Orders of a shop. Planted: the longer the delivery, the less satisfied (r about -0.8). Larger discounts go with larger
 * orders over all channels, and with smaller ones within every channel: wholesale has large orders and large discounts.
 * Six parcels weigh a hundred times too much, some delivery times are missing, and the shop was closed from May 4th to May 13th.
 */
function shopOrders({ uniform, normal, pick }: Chance): Table {
  const channels = [
    { channel: "web shop", basket: 70, discount: 6, share: 5 },
    { channel: "marketplace", basket: 150, discount: 14, share: 3 },
    { channel: "wholesale", basket: 260, discount: 23, share: 2 },
  ];
  const weighted = channels.flatMap((channel) => Array.from({ length: channel.share }, () => channel));
  const regions = ["north", "east", "south", "west"];
  const start = Date.UTC(2025, 0, 1, 8);
  return Array.from({ length: 720 }, (_, index) => {
    const { channel, basket, discount: usual } = pick(weighted);
    const discount = bounded(usual + normal() * 2.5, 0, 40);
    const value = bounded(basket - (discount - usual) * basket * 0.045 + normal() * basket * 0.12, 5, 900);
    const delivery = bounded(3.5 + normal() * 1.4, 0.5, 12);
    const satisfaction = bounded(9.6 - delivery * 0.95 + normal() * 0.9, 1, 10);
    const weight = bounded(2.4 + normal() * 0.7, 0.2, 6);
    const open = new Date(start + Math.floor((index / 720) * 355) * DAY_MS + Math.floor(uniform() * 36_000_000));
    const closed = open.getTime() >= Date.UTC(2025, 4, 4);
    return {
      order_id: 10_001 + index,
      ordered_at: new Date(open.getTime() + (closed ? 10 * DAY_MS : 0)).toISOString().slice(0, 19).replace("T", " "),
      region: pick(regions),
      channel,
      customer_age: Math.round(bounded(44 + normal() * 13, 18, 90)),
      discount_percent: rounded(discount, 1),
      order_value_eur: rounded(value, 2),
      weight_kg: rounded(index % 120 === 60 ? weight * 100 : weight, 2),
      delivery_days: uniform() < 0.04 ? null : rounded(delivery, 1),
      satisfaction: rounded(satisfaction, 1),
      returned: uniform() < 0.07,
    };
  });
}

/**
 * Three sensors, hourly. Planted: the warmer, the drier (r about -0.9); vibration of the mill rises by 0.01 mm/s a day; the
 * kiln reports nothing from March 10th to 12th; two spikes of temperature; pressure goes with nothing.
 */
function sensorReadings({ uniform, normal }: Chance): Table {
  const sensors = [
    { sensor: "kiln", warmth: 24 },
    { sensor: "mill", warmth: 19 },
    { sensor: "yard", warmth: 9 },
  ];
  const start = Date.UTC(2026, 2, 1);
  const daily = [-3, -3, -4, -4, -4, -3, -2, -1, 0, 2, 3, 4, 4, 5, 5, 4, 3, 2, 1, 0, -1, -1, -2, -2];
  return Array.from({ length: 24 * 21 }, (_, hour) =>
    sensors.flatMap(({ sensor, warmth }, at) => {
      const day = hour / 24;
      const temperature = warmth + (daily[hour % 24] ?? 0) + normal() * 0.8;
      const spike = sensor === "kiln" && (hour === 100 || hour === 333) ? 60 : 0;
      const vibration = 1.2 + (sensor === "mill" ? day * 0.01 : 0) + normal() * 0.05;
      const humidity = bounded(88 - temperature * 1.7 + normal() * 2.5, 5, 100);
      const pressure = 1013 + normal() * 6;
      if (sensor === "kiln" && day >= 9 && day < 12) return [];
      return {
        reading_id: hour * 3 + at + 1,
        measured_at: new Date(start + hour * 3_600_000).toISOString(),
        sensor,
        temperature_c: rounded(temperature + spike, 2),
        humidity_percent: uniform() < 0.02 ? null : rounded(humidity, 1),
        pressure_hpa: rounded(pressure, 1),
        vibration_mm_s: rounded(vibration, 3),
      };
    }),
  ).flat();
}

/** Answers to a survey: almost all text, so there is only one column of numbers and nothing to correlate it with. */
function customerSurvey({ uniform, normal, pick }: Chance): Table {
  const words = ["quick", "friendly", "slow", "dear", "cheap", "clear", "confusing", "helpful"];
  return Array.from({ length: 240 }, (_, index) => {
    const plan = pick(["basic", "basic", "plus", "business"]);
    const content = plan === "business" ? 0.8 : 0.55;
    return {
      respondent: `R-${String(1_000 + index)}`,
      answered_on: new Date(Date.UTC(2026, 0, 5) + Math.floor(uniform() * 28) * DAY_MS).toISOString().slice(0, 10),
      plan,
      age_group: pick(["18-29", "30-44", "45-59", "60+"]),
      would_recommend: uniform() < content ? "yes" : pick(["no", "unsure"]),
      years_as_customer: rounded(bounded(4 + normal() * 2, 0, 15), 1),
      comment: uniform() < 0.3 ? null : `${pick(words)}, ${pick(words)} "service" no. ${String(index)}`,
    };
  });
}

type Chance = {
  /** At least 0, less than 1. */
  readonly uniform: () => number;
  /** Mean 0, standard deviation 1, never beyond 6. */
  readonly normal: () => number;
  readonly pick: <T>(from: readonly T[]) => T;
};

function chance(seed: number): Chance {
  let state = seed;
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const normal = (): number => Array.from({ length: 12 }, uniform).reduce((sum, value) => sum + value, -6);
  const pick = <T>(from: readonly T[]): T => {
    const picked = from[Math.floor(uniform() * from.length)];
    if (picked === undefined) throw new RangeError("There is nothing to pick from.");
    return picked;
  };
  return { uniform, normal, pick };
}

function bounded(value: number, from: number, to: number): number {
  return Math.min(to, Math.max(from, value));
}

function rounded(value: number, digits: number): number {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}

function csv(table: Table): string {
  const names = Object.keys(table[0] ?? {});
  const cell = (value: Cell | undefined): string => {
    const text = String(value ?? "");
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return `${[names.join(","), ...table.map((row) => names.map((name) => cell(row[name])).join(","))].join("\n")}\n`;
}

function jsonLines(table: Table): string {
  return table.map((row) => `${JSON.stringify(row)}\n`).join("");
}

if (import.meta.main) {
  for (const [name, text] of Object.entries(makeSamples())) writeFileSync(join(import.meta.dirname, name), text);
}
