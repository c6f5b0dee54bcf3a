import { type ParseError, printParseErrorCode } from "jsonc-parser";

/** The same text, place by place, without the mark that some editors begin files with. */
export function withoutMark(text: string): string {
  return text.startsWith("\uFEFF") ? ` ${text.slice(1)}` : text;
}

/** `line:column`, both from 1. */
export function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset);
  return `${String(before.split("\n").length)}:${String(offset - before.lastIndexOf("\n"))}`;
}

export function notJson({ error }: ParseError): string {
  const inWords = printParseErrorCode(error).replaceAll(/([a-z])([A-Z])/g, "$1 $2");
  return `It is not JSON: ${inWords.toLowerCase()}.`;
}
