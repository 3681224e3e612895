"""Fills a shopping basket with the help of its service."""

import skep

worker = skep.Worker()


@worker.command
def shop(wishes, budget):
    """Asks the shop for the price of each wish, and buys within the budget."""
    basket = []
    for done, wish in enumerate(wishes, 1):
        try:
            price = skep.call_host("price_of", item=wish)
        except skep.HostError as error:
            print(f"{wish}: {error.message}")
        else:
            if price <= budget:
                budget -= price
                basket.append(wish)
        skep.progress(done / len(wishes), wish)
    return {"basket": basket, "left": budget}


if __name__ == "__main__":
    worker.run()
