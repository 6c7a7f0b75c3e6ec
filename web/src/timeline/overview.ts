// What many neighbours look like together: of any range of a column, the place of its greatest value and the sum,
// without looking at each.
//
//   values        3 1 4 1 5 9 2 6 ...            16 of them make one of level 0,
//   level 0       place of the greatest, sum     16 of those one of level 1, and so on
//
// A range is cut into single values at its ends, then blocks of level 0, and so on: at most 30 steps for each
// level. The levels take 12 / 15 bytes for each value.

const shift = 4;
const block = 1 << shift;

interface Level {
  greatest: Uint32Array; // indices of values
  sum: Float64Array;
}

export interface Extent {
  greatest: number; // index; -1: the range is empty
  sum: number;
}

export class Overview {
  private levels: Level[] = [];

  // Of values[first, end).
  constructor(
    private values: Float64Array,
    private first: number,
    end: number,
  ) {
    let count = end - first;
    for (let at = 0; count > block; ++at) {
      count = Math.ceil(count / block);
      this.levels.push(this.makeLevel(at, count, end));
    }
  }

  private makeLevel(at: number, count: number, end: number): Level {
    const level: Level = { greatest: new Uint32Array(count), sum: new Float64Array(count) };
    const below = this.levels[at - 1];
    const size = below ? below.sum.length : end - this.first;
    for (let i = 0; i < count; ++i) {
      let greatest = -1;
      let sum = 0;
      for (let j = i * block; j < Math.min(size, (i + 1) * block); ++j) {
        const place = below ? (below.greatest[j] as number) : this.first + j;
        sum += below ? (below.sum[j] as number) : (this.values[place] as number);
        if (greatest < 0 || (this.values[place] as number) > (this.values[greatest] as number))
          greatest = place;
      }
      level.greatest[i] = greatest;
      level.sum[i] = sum;
    }
    return level;
  }

  // Of values [from, to), written into `extent`: a frame asks ten thousand times. Goes up the levels; what does
  // not fill a block of the next is taken one by one at both ends.
  of(from: number, to: number, extent: Extent): void {
    extent.greatest = -1;
    extent.sum = 0;
    let low = from - this.first;
    let high = to - this.first;
    for (let level = -1; low < high; ++level) {
      const isTop = level + 1 >= this.levels.length;
      const first = Math.min(high, isTop ? high : (low + block - 1) & -block);
      const last = Math.max(first, isTop ? first : high & -block);
      this.take(level, low, first, extent);
      this.take(level, last, high, extent);
      low = first >> shift;
      high = last >> shift;
    }
  }

  // Entries [from, to) of a level; -1: values.
  private take(level: number, from: number, to: number, extent: Extent): void {
    const blocks = this.levels[level];
    const { values } = this;
    let greatest = extent.greatest;
    let most = greatest < 0 ? -Infinity : (values[greatest] as number);
    let sum = 0;
    for (let i = from; i < to; ++i) {
      const place = blocks ? (blocks.greatest[i] as number) : this.first + i;
      const value = values[place] as number;
      sum += blocks ? (blocks.sum[i] as number) : value;
      if (value > most) [greatest, most] = [place, value];
    }
    extent.greatest = greatest;
    extent.sum += sum;
  }
}
