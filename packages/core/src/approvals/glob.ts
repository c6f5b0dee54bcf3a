/** `*` stands for any text, `?` for one character, all else for itself. At most pattern times text in steps. */
export function matchesGlob(pattern: string, text: string): boolean {
  let at = 0;
  let wanted = 0;
  let star = -1;
  let resumeAt = 0;
  while (at < text.length) {
    const sign = pattern[wanted];
    if (sign === "*") {
      star = wanted;
      resumeAt = at;
      wanted += 1;
    } else if (sign === "?" || sign === text[at]) {
      wanted += 1;
      at += 1;
    } else if (star >= 0) {
      // The last star takes one character more; earlier ones never need to be tried again.
      resumeAt += 1;
      at = resumeAt;
      wanted = star + 1;
    } else {
      return false;
    }
  }
  while (pattern[wanted] === "*") wanted += 1;
  return wanted === pattern.length;
}
