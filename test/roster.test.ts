import { describe, expect, test } from "@jest/globals";
import { Roster, type Rostered } from "../src/roster.ts";

class Member implements Rostered {
  place = -1;
}

function members(count: number): Member[] {
  return Array.from({ length: count }, () => new Member());
}

describe("a roster", () => {
  test("has those who came and did not leave, whatever the order", () => {
    const all = members(100);
    const roster = new Roster<Member>();
    for (const member of all) roster.add(member);
    const gone = all.filter((_, at) => at % 3 === 0);
    for (const member of gone.toReversed()) roster.delete(member);
    expect(roster.size).toBe(all.length - gone.length);
    expect(new Set(roster.all())).toEqual(new Set(all.filter((member) => !gone.includes(member))));
    for (const member of gone) roster.add(member);
    expect(new Set(roster.all())).toEqual(new Set(all));
  });

  test("has a member once, and lets it leave once", () => {
    const [one, other] = members(2) as [Member, Member];
    const roster = new Roster<Member>();
    roster.add(one);
    roster.add(one);
    roster.add(other);
    expect(roster.size).toBe(2);
    roster.delete(one);
    roster.delete(one);
    expect(roster.all()).toEqual([other]);
    roster.delete(new Member());
    expect(roster.size).toBe(1);
  });

  test("may be left by its members while they are gone through", () => {
    const all = members(10);
    const roster = new Roster<Member>();
    for (const member of all) roster.add(member);
    for (const member of roster.all()) roster.delete(member);
    expect(roster.size).toBe(0);
  });

  test("can be emptied, and its members can join again", () => {
    const all = members(3);
    const roster = new Roster<Member>();
    for (const member of all) roster.add(member);
    roster.clear();
    expect(roster.size).toBe(0);
    for (const member of all) roster.add(member);
    expect(roster.size).toBe(3);
  });
});
