import { Counter, Gauge, Histogram, Registry } from "prom-client";

const DURATION_BUCKETS_SECONDS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 120];

export type Metrics = {
  /** `route` is the pattern, never the path: paths have no end. */
  readonly request: (answered: AnsweredRequest) => void;
  readonly text: () => Promise<{ readonly text: string; readonly mediaType: string }>;
};

type AnsweredRequest = {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
};

export type Figures = { readonly activeRuns: () => number; readonly eventStreams: () => number };

export function createMetrics(figures: Figures): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: "ergon_http_requests_total",
    help: "Requests answered",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "ergon_http_request_duration_seconds",
    help: "Time from a request to the end of its answer",
    labelNames: ["method", "route"],
    buckets: DURATION_BUCKETS_SECONDS,
    registers,
  });
  addGauge(registry, "ergon_active_runs", "Runs with something under way", figures.activeRuns);
  addGauge(registry, "ergon_event_streams", "Open event streams", figures.eventStreams);
  addGauge(registry, "process_resident_memory_bytes", "Resident memory", () => process.memoryUsage.rss());
  addGauge(registry, "nodejs_heap_size_used_bytes", "Heap in use", () => process.memoryUsage().heapUsed);
  addGauge(registry, "process_cpu_seconds_total", "Processor time", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000_000;
  });
  return {
    request: ({ method, route, status, durationMs }) => {
      requests.inc({ method, route, status });
      durations.observe({ method, route }, durationMs / 1_000);
    },
    text: async () => ({ text: await registry.metrics(), mediaType: registry.contentType }),
  };
}

function addGauge(registry: Registry, name: string, help: string, read: () => number): void {
  const gauge: Gauge = new Gauge({ name, help, registers: [registry], collect: () => gauge.set(read()) });
}
