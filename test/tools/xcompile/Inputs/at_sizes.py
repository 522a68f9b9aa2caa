"""What the plans of a module, as `xdump --json` shows it, need for some sizes: NAME=SIZE... on the command line."""
import json
import sys

COMBINE = {"Add": lambda a, b: a + b, "Sub": lambda a, b: a - b, "Mul": lambda a, b: a * b, "FloorDiv": lambda a, b: a // b,
           "CeilDiv": lambda a, b: -(-a // b), "Mod": lambda a, b: a % b, "Min": min, "Max": max}


def evaluate(value, plan, symbols):
    if value["formula"] < 0:
        return value["literal"]
    code = plan["formulas"][value["formula"]]
    stack = []
    for step in plan["formula_code"][code["begin"]:code["begin"] + code["count"]]:
        if step["op"] == "Const":
            stack.append(step["operand"])
        elif step["op"] == "Symbol":
            stack.append(symbols[step["operand"]])
        else:
            right, left = stack.pop(), stack.pop()
            stack.append(COMBINE[step["op"]](left, right))
    return stack[0]


def main():
    sizes = dict(argument.split("=") for argument in sys.argv[1:])
    for function in json.load(sys.stdin)["functions"]:
        symbols = [int(sizes[symbol["name"]]) for symbol in function["symbols"]]
        for plan in function["plans"]:
            regions = ["second" if evaluate(c["condition"], plan, symbols) == 0 else "first" for c in plan.get("choices", [])]
            print(function["name"], "chooses", *regions, "and needs", evaluate(plan["arena_size"], plan, symbols) >> 20, "MiB")


main()
