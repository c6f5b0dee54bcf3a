export type Components = {
  readonly isReached: readonly boolean[];
  readonly component: readonly number[];
  readonly isCycle: readonly boolean[];
};

/** Strongly connected components (Tarjan), numbered from the ends backwards, and what `start` reaches. Never recurses. */
export function componentsOf(next: readonly (readonly number[])[], start: number | undefined): Components {
  const component: number[] = next.map(() => -1);
  const isCycle: boolean[] = [];
  const order: number[] = next.map(() => -1);
  const low: number[] = next.map(() => -1);
  const open: number[] = [];
  const way: { readonly at: number; edge: number }[] = [];
  let seen = 0;
  const enter = (at: number): void => {
    order[at] = seen;
    low[at] = seen;
    seen += 1;
    open.push(at);
    way.push({ at, edge: 0 });
  };
  if (start !== undefined) explore(start);
  const isReached = order.map((each) => each >= 0);
  for (const at of next.keys()) if (order[at] === -1) explore(at);
  return { isReached, component, isCycle };

  function explore(from: number): void {
    enter(from);
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const { at } = top;
      const target = next[at]?.[top.edge];
      top.edge += 1;
      if (target === undefined) {
        if (low[at] === order[at]) isCycle.push(close(at));
        way.pop();
        const parent = way.at(-1);
        if (parent !== undefined) low[parent.at] = Math.min(low[parent.at] ?? 0, low[at] ?? 0);
      } else if (order[target] === -1) enter(target);
      else if (component[target] === -1) low[at] = Math.min(low[at] ?? 0, order[target] ?? 0);
    }
  }

  function close(root: number): boolean {
    let size = 0;
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      component[at] = isCycle.length;
      size += 1;
      if (at === root) break;
    }
    return size > 1 || next[root]?.includes(root) === true;
  }
}
