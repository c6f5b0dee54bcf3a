/** Words that say nothing about what is wanted. */
const STOP_WORDS = new Set(
  `a an and are as at be been by can could did do does for from give had has have how i if in into is it its just know let
  like many me much my need now of off on one or our out please shall she should show so some tell than that the their them
  then there these they this those to us want was we were what when where which while who whom why will with would you your
  he her him his hers theirs up about all any also both each most more very get make use using help here s t re ll d m
  zero two three four five six seven eight nine ten eleven twelve`
    .split(/\s+/)
    .filter((word) => word !== ""),
);

/** Lower-case words, camelCase and snake_case taken apart. */
export function wordsOf(text: string): readonly string[] {
  const apart = text.replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2").toLowerCase();
  return apart.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** The words that carry the meaning, each brought to its stem. */
export function keywordsOf(text: string): readonly string[] {
  return wordsOf(text)
    .filter((word) => !STOP_WORDS.has(word))
    .map(stemOf);
}

/** Roughly, so that forms of one word meet: counts, counting, counted. */
export function stemOf(word: string): string {
  if (word.length <= 3 || /\d/.test(word)) return word;
  const bare = word
    .replace(/(?:ies)$/, "y")
    .replace(/(?<=[^s])s$/, "")
    .replace(/(?<=..)(?:ation|ating|ated)$/, "at")
    .replace(/(?<=...)(?:ing|ment|ness|able|ly|ed|er|ion)$/, "");
  const single = bare.replace(/([b-df-hj-np-tv-z])\1$/, "$1").replace(/e$/, "");
  return single.length >= 3 ? single : word;
}
