import { execFile } from "node:child_process";
import { promisify } from "node:util";
import {
  type SandboxProfile,
  type SandboxProfileName,
  sandboxError,
  type SandboxRequest,
  usageError,
} from "@ergon/core/schema";
import { type Fence, fenced, findFence } from "./fence.ts";
import { SYSTEM_PYTHON } from "./launch.ts";

/** What a profile is made of here, or why there is none. */
export type Found = { readonly fence: Fence } | { readonly missing: string };

export type Profiles = {
  readonly list: () => Promise<readonly SandboxProfile[]>;
  /** The fence to start behind; undefined for the default profile. Throws `sandbox_profile_unavailable`. */
  readonly fenceOf: (wish: Pick<SandboxRequest, "language" | "profile">) => Promise<Fence | undefined>;
};

const LANGUAGES: Readonly<Record<SandboxProfileName, readonly SandboxRequest["language"][]>> = {
  default: ["python", "javascript"],
  hardened: ["python", "javascript"],
  data: ["python"],
};

const NOTES: Readonly<Record<SandboxProfileName, string>> = {
  default: "Deno without permissions; python by Pyodide.",
  hardened: "The default profile, behind bubblewrap, as a user without rights.",
  data: "The system's python with numpy and pandas, behind bubblewrap.",
};

/** Looks by trying: what has been found stays found, what was missing is looked for again. */
export function createProfiles(find: () => Fence | undefined = findFence): Profiles {
  const found = new Map<SandboxProfileName, Fence>();

  async function look(name: "hardened" | "data"): Promise<Found> {
    const known = found.get(name);
    if (known !== undefined) return { fence: known };
    const looked = name === "hardened" ? await lookForFence(find) : await lookForPython(await look("hardened"));
    if ("fence" in looked) found.set(name, looked.fence);
    return looked;
  }

  return {
    list: async () => {
      const [hardened, data] = [await look("hardened"), await look("data")];
      return [described("default"), described("hardened", hardened), described("data", data)];
    },
    fenceOf: async ({ language, profile = "default" }) => {
      if (!LANGUAGES[profile].includes(language)) {
        const languages = LANGUAGES[profile].join(" and ");
        throw usageError("input_invalid", `The profile "${profile}" runs ${languages}, not ${language}.`);
      }
      if (profile === "default") return undefined;
      const looked = await look(profile);
      if ("fence" in looked) return looked.fence;
      const elsewhere = process.platform === "linux" ? "" : " Name a service on Linux with ERGON_SANDBOX_URL.";
      const message = `The sandbox profile "${profile}" cannot be had here: ${looked.missing}${elsewhere}`;
      throw sandboxError("sandbox_profile_unavailable", message, { details: { profile } });
    },
  };
}

function described(name: SandboxProfileName, found?: Found): SandboxProfile {
  const missing = found !== undefined && "missing" in found ? found.missing : undefined;
  return { name, languages: [...LANGUAGES[name]], available: missing === undefined, note: missing ?? NOTES[name] };
}

export async function lookForFence(find: () => Fence | undefined): Promise<Found> {
  if (process.platform !== "linux") return { missing: "it needs Linux." };
  const fence = find();
  if (fence === undefined) {
    return { missing: "it needs bubblewrap. Install it: apt-get install bubblewrap, or dnf install bubblewrap." };
  }
  const problem = await tried(fence, ["/usr/bin/prlimit", "--version"]);
  if (problem === undefined) return { fence };
  return {
    missing: `bubblewrap does not work here (${problem}). It needs user namespaces: look at sysctl user.max_user_namespaces and kernel.unprivileged_userns_clone.`,
  };
}

async function lookForPython(hardened: Found): Promise<Found> {
  if ("missing" in hardened) return hardened;
  const problem = await tried(hardened.fence, [SYSTEM_PYTHON, "-E", "-s", "-c", "import numpy, pandas"]);
  if (problem === undefined) return hardened;
  return {
    missing: `it needs ${SYSTEM_PYTHON} with numpy and pandas (${problem}). Install them: apt-get install python3-pandas, or dnf install python3-pandas.`,
  };
}

const TRY_MS = 60_000;
const TRY_LIMITS = { processes: 48, dataMb: 2_048 };

/** Why it failed, in one line. */
async function tried(fence: Fence, command: readonly string[]): Promise<string | undefined> {
  const { command: file, args } = fenced(fence, { command, files: {}, env: { PATH: "/usr/bin" }, limits: TRY_LIMITS });
  try {
    await promisify(execFile)(file, args, { timeout: TRY_MS, env: {}, cwd: "/" });
    return undefined;
  } catch (thrown) {
    const said = typeof thrown === "object" && thrown !== null && "stderr" in thrown ? String(thrown.stderr) : "";
    return said.trim().split("\n").at(-1) || String(thrown).slice(0, 200);
  }
}
