// Ranks that wait for each other: strongly connected components of the edges rank -> ranks, by Tarjan's
// algorithm with a stack of its own, since a chain of thousands of ranks must not overflow the browser's.

interface Step {
  rank: number;
  next: number; // edge to look at
}

class Search {
  found: number[][] = [];
  private order = new Map<number, number>();
  private low = new Map<number, number>();
  private open: number[] = []; // on the way, not yet in a component
  private isOpen = new Set<number>();

  constructor(private edges: Map<number, number[]>) {
    for (const rank of edges.keys()) if (!this.order.has(rank)) this.visit(rank);
  }

  private enter(rank: number, path: Step[]): void {
    this.low.set(rank, this.order.size);
    this.order.set(rank, this.order.size);
    this.open.push(rank);
    this.isOpen.add(rank);
    path.push({ rank, next: 0 });
  }

  private visit(root: number): void {
    const path: Step[] = [];
    this.enter(root, path);
    for (let step = path[0]; step; step = path[path.length - 1]) {
      const to = this.edges.get(step.rank)?.[step.next++];
      if (to === undefined) {
        path.pop();
        this.leave(step.rank, path[path.length - 1]);
      } else if (!this.order.has(to)) this.enter(to, path);
      else if (this.isOpen.has(to)) this.lower(step.rank, this.order.get(to) as number);
    }
  }

  private lower(rank: number, value: number): void {
    this.low.set(rank, Math.min(this.low.get(rank) as number, value));
  }

  private leave(rank: number, before: Step | undefined): void {
    const low = this.low.get(rank) as number;
    if (before) this.lower(before.rank, low);
    if (low !== this.order.get(rank)) return;
    const component = this.open.splice(this.open.lastIndexOf(rank));
    for (const one of component) this.isOpen.delete(one);
    if (component.length > 1) this.found.push(component.sort((a, b) => a - b));
  }
}

export function circlesOf(edges: Map<number, number[]>): number[][] {
  return new Search(edges).found;
}
