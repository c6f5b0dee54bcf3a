/** A message that asks for more parts than this is taken as a whole beyond. */
const MAX_CLAUSES = 4;
const MIN_WORDS = 2;

/** The things that one message asks for: "which are missing, and what should they learn first?" is two. */
export function clausesOf(message: string): readonly string[] {
  const parts = message
    .split(
      /[;?!]|\.\s|,\s*(?:and|then|so|but)\b|\b(?:and then|and also|as well as|after that|afterwards|, then)\b|\band\s+(?=(?:what|which|who|how|where|when|then|also|\p{L}+\s+(?:it|them|the|a|an|her|him|his|my|me|us|that)\b))/iu,
    )
    .map((part) => part.trim())
    .filter((part) => part.split(/\s+/).length >= MIN_WORDS);
  return parts.slice(0, MAX_CLAUSES);
}
