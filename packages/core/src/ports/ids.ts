/** Makes identifiers that are unique and sort by the time they were made. */
export type Ids = {
  next(prefix: string): string;
};
