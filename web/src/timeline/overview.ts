// What many neighbours look like together: of any range of a column, the place of its greatest value and the sum,
// without looking at each.
//
//   values        3 1 4 1 5 9 2 6 ...            16 of them make one of level 0,
//   level 0       place of the greatest, sum     16 of those one of level 1, and so on
//
// A range is cut into single values at its ends and blocks of the highest level that fits between: at most 32
// steps for each level. The levels take 12 / 15 bytes for each value.

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

  // Of values [from, to), written into `extent`: a frame asks ten thousand times.
  of(from: number, to: number, extent: Extent): void {
    extent.greatest = -1;
    extent.sum = 0;
    let at = from - this.first;
    const end = to - this.first;
    while (at < end) {
      let level = -1;
      let size = 1;
      while (
        level + 1 < this.levels.length &&
        at % (size * block) === 0 &&
        at + size * block <= end
      ) {
        ++level;
        size *= block;
      }
      this.take(level, at / size, extent);
      at += size;
    }
  }

  private take(level: number, at: number, extent: Extent): void {
    const from = this.levels[level];
    const place = from ? (from.greatest[at] as number) : this.first + at;
    const value = this.values[place] as number;
    extent.sum += from ? (from.sum[at] as number) : value;
    if (extent.greatest < 0 || value > (this.values[extent.greatest] as number))
      extent.greatest = place;
  }
}
