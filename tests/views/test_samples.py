from ontogeny.views import samples


def test_steps_in_order_and_texts_cut():
    figure = samples([(9, "b" * 500), (0, "a")])
    assert figure.table.rows == ((0.0, "a"), (9.0, "b" * 400 + "…"))
    assert figure.note == ""


def test_only_some_of_many_steps_are_shown():
    figure = samples([(step, "x") for step in range(1000)], most=5)
    assert [row[0] for row in figure.table.rows][::4] == [0.0, 999.0]
    assert figure.note == "5 of 1,000 samples shown."
