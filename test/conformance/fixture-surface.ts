import type { McpChanges } from "../../apps/ergon/src/mcp/host/changes.ts";
import type { McpPrompt, McpResources, McpSurface } from "../../apps/ergon/src/mcp/host/surface.ts";
import { askingPrompt, askingTools } from "./asking-tools.ts";
import { plainTools } from "./plain-tools.ts";
import { PNG } from "./samples.ts";

/** What the conformance suite calls: a pack for tests, shown by the same server code as everything else. */
export function fixtureSurface(changes: McpChanges): McpSurface {
  const tools = [...plainTools(changes), ...askingTools];
  return { tools: () => tools, prompts: () => PROMPTS, resources: RESOURCES };
}

const PROMPTS: readonly McpPrompt[] = [
  {
    definition: { name: "test_simple_prompt", description: "A simple prompt" },
    get: async () => said("This is a simple prompt for testing."),
  },
  {
    definition: {
      name: "test_prompt_with_arguments",
      description: "A prompt with arguments",
      arguments: [
        { name: "arg1", description: "First test argument", required: true },
        { name: "arg2", description: "Second test argument", required: true },
      ],
    },
    get: async ({ arg1 = "", arg2 = "" }) => said(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
    complete: ({ value }) => ({ values: ["paris", "park", "party"].filter((word) => word.startsWith(value)) }),
  },
  {
    definition: {
      name: "test_prompt_with_embedded_resource",
      description: "A prompt with a resource in it",
      arguments: [{ name: "resourceUri", description: "The resource to embed", required: true }],
    },
    get: async ({ resourceUri = "" }) => {
      const resource = { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." };
      const content = { type: "resource" as const, resource };
      return { messages: [{ role: "user", content }, ...said("Please process the embedded resource above.").messages] };
    },
  },
  {
    definition: { name: "test_prompt_with_image", description: "A prompt with an image in it" },
    get: async () => {
      const content = { type: "image" as const, data: PNG, mimeType: "image/png" };
      return { messages: [{ role: "user", content }, ...said("Please analyze the image above.").messages] };
    },
  },
  askingPrompt,
];

function said(text: string) {
  return { messages: [{ role: "user" as const, content: { type: "text" as const, text } }] };
}

const STATIC = [
  { uri: "test://static-text", mimeType: "text/plain", text: "This is the content of the static text resource." },
  { uri: "test://static-binary", mimeType: "image/png", blob: PNG },
  { uri: "test://watched-resource", mimeType: "text/plain", text: "This resource is watched." },
];

const RESOURCES: McpResources = {
  templates: () => [
    {
      uriTemplate: "test://template/{id}/data",
      name: "template",
      description: "A resource by its id",
      mimeType: "application/json",
    },
  ],
  list: async () =>
    STATIC.map(({ uri, mimeType }) => ({
      uri,
      name: uri.slice("test://".length),
      description: "For the suite",
      mimeType,
    })),
  read: async (uri) => {
    const known = STATIC.find((one) => one.uri === uri);
    if (known !== undefined) return { contents: [known] };
    const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
    if (id === undefined) return undefined;
    const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { contents: [{ uri, mimeType: "application/json", text }] };
  },
  complete: async () => undefined,
};
