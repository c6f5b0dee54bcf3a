import { fromPack } from "@ergon/core";
import { dataError } from "../data/data-error.ts";

/** A Vega-Lite specification; its data is inside it. */
export type ChartSpec = Readonly<Record<string, unknown>>;

/** Draws a chart as a self-contained SVG, without canvas and without network. */
export async function renderSvg(spec: ChartSpec): Promise<string> {
  const pack = await fromPack("@ergon/quick-data", () => import("@ergon/quick-data"));
  const [vega, vegaLite] = await Promise.all([pack.loadVega(), pack.loadVegaLite()]);
  const { spec: compiled } = vegaLite.compile(spec as unknown as Parameters<typeof vegaLite.compile>[0]);
  const loader = vega.loader();
  loader.load = () => Promise.reject(dataError("path_refused", "A chart draws what is in it and loads nothing."));
  const view = new vega.View(vega.parse(compiled), { renderer: "none", loader, logLevel: vega.Error });
  try {
    return await view.toSVG();
  } finally {
    view.finalize();
  }
}
