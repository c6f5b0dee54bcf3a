/** Characters of one pointer. */
export const MAX_POINTER_LENGTH = 2_000;
/** How deep filters, parentheses and function calls of one pointer may nest. */
export const MAX_POINTER_NESTING = 32;
/** Levels that descending, comparing and copying go into a value: references make values deeper than any document. */
export const MAX_POINTER_DEPTH = 1_024;
/** Nodes that one query may select: as many as a loop may have items. */
export const MAX_POINTER_NODES = 1_000_000;
/** Things that are fetched from outside memory for one resolution. */
export const MAX_POINTER_LOADS = 1_000;
/** Bytes of blobs that one resolution may follow. */
export const MAX_POINTER_BYTES = 256 * 1024 * 1024;
/** A unit is one node visited, or one pattern instruction at one character: a second or two in the worst case. */
export const MAX_POINTER_WORK = 20_000_000;
/** A reference may lead to a reference; a chain longer than this is a circle. */
export const MAX_REFERENCE_CHAIN = 8;
/** What a history query sees that no index answers. */
export const HISTORY_SCAN_LIMIT = 1_000;

export const MAX_PATTERN_LENGTH = 1_000;
/** Compiled patterns kept for the ones that are not known when a plan is compiled. */
export const PATTERN_CACHE_SIZE = 256;
