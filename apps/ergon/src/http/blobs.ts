import { storeError } from "@ergon/core/schema";
import type { Engine } from "@ergon/core/engine";
import { z } from "zod";
import { route, type Route } from "./server/route.ts";

const noBlob = ({ id = "" }: Readonly<Record<string, string>>): Error =>
  storeError("blob_not_found", `No blob "${id}".`);
/** What a header can carry; anything else goes out as plain bytes. */
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:; *[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[\w !#$&^.+/-]*"))*$/;

export function blobRoutes(engine: Pick<Engine, "readBlob">): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/blobs/:id",
      operationId: "readBlob",
      summary: "A large value's bytes",
      access: "agent",
      params: z.object({ id: z.string().regex(/^[0-9a-f]{64}$/) }),
      unknown: noBlob,
      answers: {
        200: {
          description: "The bytes, with their content type",
          schema: z.string(),
          mediaType: "application/octet-stream",
        },
      },
      handle: async ({ params }, { owner }) => {
        const { bytes, mediaType } = await engine.readBlob({ owner, id: params.id });
        return { status: 200, bytes, mediaType: MEDIA_TYPE.test(mediaType) ? mediaType : "application/octet-stream" };
      },
    }),
  ];
}
